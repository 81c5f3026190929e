def solve(x):
    error = None
    for _ in range(5000):
        try: raise ValueError from error
        except ValueError as e: error = e
    raise error
