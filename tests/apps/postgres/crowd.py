"""Takes every connection of a server that its role may have, prints their number, and holds them
until its input ends.

    crowd.py CONNECTION
"""

import sys

import psycopg2

held = []
while True:
    try:
        held.append(psycopg2.connect(sys.argv[1]))
    except psycopg2.OperationalError:
        break
print(len(held), flush=True)
sys.stdin.read()
