"""The warm process that forks one child per program, on the standard library alone.

Who is who, from outside in:

- `client` runs in the trainer: starts a zygote, hands it jobs as file descriptors, pumps pipes, classifies the end.
- `server` is the zygote: trusted, small, empty environment, holding neither tests nor secrets nor the program. It
  builds the walls once, then forks one box per program and enforces the limits.
- `box` is what runs inside a box: a script, the calls of a module, a compiler, a binary.
- `judging` is what runs inside a test box: stubs for the solution, one outcome per declared test.
- `kernel` is the list of system calls that the standard library lacks.
"""
