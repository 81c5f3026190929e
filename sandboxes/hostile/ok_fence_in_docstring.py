"""Solves it.

Example:

```python
print(solve(2))
```
"""
def solve(x):
    return 3 * x + 1
if __name__ == '__main__':
    n = int(input())
    for i in range(1, n + 1):
        print(i * i)
