# Relays connections to one Unix socket to another: an engine's door that a
# test can open and close.
import os, socket, sys, threading

inside, outside = sys.argv[1:3]


def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    finally:
        try:
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


door = socket.socket(socket.AF_UNIX)
if os.path.exists(inside):
    os.unlink(inside)
door.bind(inside)
door.listen(128)
while True:
    one, _ = door.accept()
    other = socket.socket(socket.AF_UNIX)
    try:
        other.connect(outside)
    except OSError:
        one.close()
        continue
    for pair in ((one, other), (other, one)):
        threading.Thread(target=pump, args=pair, daemon=True).start()
