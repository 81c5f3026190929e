a = [0]
for _ in range(60): a = [a, a]
import copy, json
print(len(json.dumps(a)))
