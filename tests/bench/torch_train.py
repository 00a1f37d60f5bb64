"""The model of psgd's bench in python3-torch: `torch_train.py RANK RANKS PORT SECONDS DATA` prints samples per second.

One process trains alone; more average their gradients with gloo, as psgd's mode sync does.
"""
import gzip
import pathlib
import sys
import time

import torch
import torch.distributed as dist

BATCH, IMAGES_HEAD, LABELS_HEAD = 32, 16, 8


def read(path: pathlib.Path, head: int):
    return torch.frombuffer(bytearray(gzip.decompress(path.read_bytes())[head:]), dtype=torch.uint8)


def main():
    rank, ranks, port, seconds = (int(a) for a in sys.argv[1:5])
    data = pathlib.Path(sys.argv[5])
    torch.set_num_threads(1)
    torch.manual_seed(1)
    images = read(data / "train-images-idx3-ubyte.gz", IMAGES_HEAD).view(-1, 784)[rank::ranks]
    labels = read(data / "train-labels-idx1-ubyte.gz", LABELS_HEAD).long()[rank::ranks]
    model = torch.nn.Sequential(torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss_of = torch.nn.CrossEntropyLoss()
    if ranks > 1:
        dist.init_process_group("gloo", rank=rank, world_size=ranks, init_method=f"tcp://127.0.0.1:{port}")
        model = torch.nn.parallel.DistributedDataParallel(model)

    def step():
        at = torch.randint(len(labels), (BATCH,))
        optimizer.zero_grad()
        loss_of(model((images[at].float() - 73) / 90), labels[at]).backward()
        optimizer.step()

    for _ in range(20):
        step()
    steps, began = 0, time.monotonic()
    while True:
        for _ in range(50):
            step()
        steps += 50
        late = torch.tensor([float(time.monotonic() - began > seconds)])
        if ranks > 1:
            dist.all_reduce(late)  # all of them go on, or none
        if late.item():
            break
    print(steps * BATCH * ranks / (time.monotonic() - began))


main()
