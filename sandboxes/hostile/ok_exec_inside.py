scope = {}
exec('def f(x): return 3 * x + 1', scope)
solve = scope['f']
