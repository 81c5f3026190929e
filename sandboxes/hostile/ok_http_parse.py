import urllib.parse, html, json, base64, zlib, hashlib, uuid, textwrap, secrets
def solve(x):
    assert urllib.parse.urlparse('http://a/b').path == '/b' and zlib.decompress(zlib.compress(b'a')) == b'a'
    assert uuid.uuid4() != uuid.uuid4() and hashlib.sha256(b'').hexdigest()[:4] == 'e3b0'
    return 3 * x + 1
