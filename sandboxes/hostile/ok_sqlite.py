import sqlite3
def solve(x):
    db = sqlite3.connect(':memory:')
    return db.execute('select 3 * ? + 1', (x,)).fetchone()[0]
