#include "data/arrow.hpp"

namespace bestdag {

namespace {

[[noreturn]] void fail(ArrowArrayStream& stream) {
    const char* text = stream.get_last_error ? stream.get_last_error(&stream) : nullptr;
    throw StreamError(text ? text : "the Arrow stream failed without a message");
}

}  // namespace

Released<ArrowSchema> schema_of(ArrowArrayStream& stream) {
    if (!stream.release) throw StreamError("the Arrow stream was read already");
    Released<ArrowSchema> schema;
    if (stream.get_schema(&stream, &*schema) != 0) fail(stream);
    return schema;
}

Released<ArrowArray> next_batch(ArrowArrayStream& stream) {
    if (!stream.release) throw StreamError("the Arrow stream was read already");
    Released<ArrowArray> batch;
    if (stream.get_next(&stream, &*batch) != 0) fail(stream);
    return batch;
}

}  // namespace bestdag
