"""`python -m nrm`."""

from nrm.cli import main

main()
