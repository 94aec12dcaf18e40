"""`python -m tf_multigpu` is `tf-multigpu`."""

import sys

from converter.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
