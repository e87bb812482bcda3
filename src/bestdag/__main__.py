"""`python -m bestdag` is the command `bestdag`."""

from bestdag.cli.entry import main

if __name__ == "__main__":
    main()
