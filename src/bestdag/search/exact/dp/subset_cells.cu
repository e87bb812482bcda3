// The recursion over subsets on a GPU, for the tasks of a layer at a time:
//
//     R(S) = min over v in S of R(S \ v) + best_v(S \ v).
//
// The bits of a subset are, from the lowest: 10 within a block of 1024 cells, which one group of
// threads computes in shared memory; the middle bits; the top bits, which number the tasks. The
// cells of the task at position p are at p modulo `room` in the arena. Costs are whole numbers below
// 2^31, at most `limit`, so sums of two do not overflow.
//
// `prepare` finds for each task and variable what holds for all its blocks: best costs from sets
// without middle members, and the list of sets that wait for middle members and are better.
// `advance` computes blocks whose middle parts have the same number of members.

typedef unsigned int u32;
typedef unsigned long long u64;

constexpr u32 kWithin = 10, kCells = 1u << kWithin, kLanes = 32, kWarps = 8;
constexpr u32 kNowhere = 0xffffffffu, kAll = 0xffffffffu;

struct Set {
    u32 top, middle, low, cost;
};

struct Waiting {
    u32 members;  // middle bits above those within
    u32 cost;
};

// Cells of a block in shared memory, so that rows and columns of 32 meet different banks.
__device__ __forceinline__ u32 place(u32 cell) { return (cell & ~31u) | ((cell ^ (cell >> 5)) & 31u); }

__device__ __forceinline__ void spread(u32 (&r)[kLanes]) {
#pragma unroll
    for (u32 bit = 1; bit < kLanes; bit *= 2) {
#pragma unroll
        for (u32 k = 0; k < kLanes; ++k) {
            if (k & bit) r[k] = min(r[k], r[k ^ bit]);
        }
    }
}

// r[k] of each lane: the least cell among the subsets of cell 32 k + lane. One warp.
__device__ __forceinline__ void close(u32* block, u32 lane, u32 (&r)[kLanes]) {
#pragma unroll
    for (u32 k = 0; k < kLanes; ++k) r[k] = block[lane * 32 + (k ^ lane)];
    spread(r);
#pragma unroll
    for (u32 k = 0; k < kLanes; ++k) block[lane * 32 + (k ^ lane)] = r[k];
    __syncwarp();
#pragma unroll
    for (u32 k = 0; k < kLanes; ++k) r[k] = block[k * 32 + (lane ^ k)];
    spread(r);
    __syncwarp();
}

__device__ __forceinline__ void store(u32* block, u32 lane, const u32 (&r)[kLanes]) {
#pragma unroll
    for (u32 k = 0; k < kLanes; ++k) block[k * 32 + (lane ^ k)] = r[k];
    __syncwarp();
}

// The top bits that some order puts last: those without which the subset is allowed.
extern "C" __global__ void find_last(const u32* tops, u32 n_tops, const u32* position, u32* last) {
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_tops) return;
    u32 found = 0;
    for (u32 left = tops[i]; left != 0; left &= left - 1) {
        const u32 bit = left & (~left + 1);
        if (position[tops[i] ^ bit] != kNowhere) found |= bit;
    }
    last[i] = found;
}

// The variables whose best costs matter somewhere in a task.
__device__ __forceinline__ u64 needed(u32 last, u32 middle_bits, u32 middle) {
    return (kCells - 1) | (u64)middle_bits << kWithin | (u64)last << (kWithin + middle);
}

// One warp for each task and variable. tops and last begin at the first of n_tasks tasks.
extern "C" __global__ void __launch_bounds__(kWarps* kLanes)
    prepare(const u32* tops, const u32* last, u32 n_tasks, u32 n, u32 middle, u32 limit,
            const long long* first, const Set* sets, const long long* room_first, u32 room_sets,
            u32* base, Waiting* waiting, u32* n_waiting) {
    __shared__ u32 blocks[kWarps][kCells];
    const u32 warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    const u64 item = (u64)blockIdx.x * kWarps + warp;
    const u32 task = item / n, v = item % n;
    if (task >= n_tasks) return;
    const u32 top = tops[task];
    if (!(needed(last[task], (1u << middle) - 1, middle) >> v & 1u)) return;
    u32* const block = blocks[warp];
    u32 r[kLanes];
#pragma unroll
    for (u32 k = 0; k < kLanes; ++k) r[k] = limit;
    store(block, lane, r);
    const long long end = first[v + 1];
    for (long long k = first[v] + lane; k < end; k += kLanes) {
        const Set set = sets[k];
        if ((set.top & ~top) == 0 && set.middle == 0) atomicMin(&block[place(set.low)], set.cost);
    }
    __syncwarp();
    close(block, lane, r);
    store(block, lane, r);
#pragma unroll
    for (u32 k = 0; k < kLanes; ++k) base[item * kCells + k * 32 + lane] = r[k];
    // A set that is no better than one that fits already cannot matter where more sets fit.
    Waiting* const out = waiting + (u64)task * room_sets + room_first[v];
    u32 count = 0;
    for (long long begin = first[v]; begin < end; begin += kLanes) {
        const long long k = begin + lane;
        Set set = {0, 0, 0, 0};
        if (k < end) set = sets[k];
        const bool waits = k < end && (set.top & ~top) == 0 && set.middle != 0 &&
                           set.cost < block[place(set.low)];
        const u32 who = __ballot_sync(kAll, waits);
        if (waits) {
            out[count + __popc(who & ((1u << lane) - 1))] = {set.middle << kWithin | set.low,
                                                             set.cost};
        }
        count += __popc(who);
    }
    if (lane == 0) n_waiting[item] = count;
}

// One group of threads for each task and middle part. `begin` is the first task's position; the
// middle parts have equally many members, those with fewer are done. by_size lists the cells of a
// block by their number of members, size_begin where each number begins.
extern "C" __global__ void __launch_bounds__(kWarps* kLanes)
    advance(u32* arena, u64 room, u64 begin, const u32* tops, const u32* last, const u32* position,
            u32 n, u32 middle, u32 limit, const u32* base, const Waiting* waiting,
            const u32* n_waiting, const long long* room_first, u32 room_sets, const u32* middles,
            u32 n_middles, const unsigned short* by_size, const u32* size_begin) {
    extern __shared__ u32 shared[];
    u32* const best = shared;                             // of the variables within
    u32* const blocks = best + kWithin * kCells;          // one for each warp
    u32* const cells = blocks + (u64)kWarps * kCells;     // the result
    const u32 warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    const u32 task = blockIdx.x / n_middles, part = middles[blockIdx.x % n_middles];
    const u32 top = tops[task], task_bits = kWithin + middle;
    u32* const own = arena + ((begin + task) % room << task_bits);
    for (u32 i = threadIdx.x; i < kCells; i += kWarps * kLanes) cells[i] = limit;
    u32 least[kLanes];
#pragma unroll
    for (u32 k = 0; k < kLanes; ++k) least[k] = limit;
    u32 turn = 0;
    for (u64 left = needed(last[task], part, middle); left != 0; left &= left - 1, ++turn) {
        if (turn % kWarps != warp) continue;
        const u32 v = __ffsll(left) - 1;
        const u64 item = (u64)task * n + v;
        u32* const block = v < kWithin ? best + v * kCells : blocks + warp * kCells;
        u32 r[kLanes];
#pragma unroll
        for (u32 k = 0; k < kLanes; ++k) r[k] = base[item * kCells + k * 32 + lane];
        store(block, lane, r);
        const Waiting* const mine = waiting + (u64)task * room_sets + room_first[v];
        const u32 count = n_waiting[item];
        bool is_any = false;
        for (u32 i = lane; i < count; i += kLanes) {
            const Waiting set = mine[i];
            if ((set.members >> kWithin & ~part) != 0) continue;
            atomicMin(&block[place(set.members & (kCells - 1))], set.cost);
            is_any = true;
        }
        if (__any_sync(kAll, is_any)) {
            __syncwarp();
            close(block, lane, r);
            if (v < kWithin) store(block, lane, r);
        }
        if (v < kWithin) continue;
        const u32* before;
        if (v < task_bits) {
            before = own + ((part ^ 1u << (v - kWithin)) << kWithin);
        } else {
            const u64 at = position[top ^ 1u << (v - task_bits)];
            before = arena + (at % room << task_bits) + (part << kWithin);
        }
#pragma unroll
        for (u32 k = 0; k < kLanes; ++k) least[k] = min(least[k], before[k * 32 + lane] + r[k]);
        __syncwarp();
    }
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < kLanes; ++k) atomicMin(&cells[k * 32 + (lane ^ k)], least[k]);
    if (top == 0 && part == 0 && threadIdx.x == 0) cells[0] = 0;  // the empty set
    __syncthreads();
    for (u32 size = 1; size <= kWithin; ++size) {
        for (u32 i = size_begin[size] + threadIdx.x; i < size_begin[size + 1];
             i += kWarps * kLanes) {
            const u32 cell = by_size[i];
            u32 value = cells[place(cell)];
            for (u32 left = cell; left != 0; left &= left - 1) {
                const u32 from = place(cell ^ (left & (~left + 1)));
                value = min(value, cells[from] + best[(__ffs(left) - 1) * kCells + from]);
            }
            cells[place(cell)] = value;
        }
        __syncthreads();
    }
    for (u32 i = threadIdx.x; i < kCells; i += kWarps * kLanes) {
        own[(part << kWithin) + i] = cells[place(i)];
    }
}
