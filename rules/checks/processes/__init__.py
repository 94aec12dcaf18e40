"""What a process for each GPU cannot do for a PyTorch script, or does otherwise."""

from converter.rule import with_changes

# A script that is converted; the examples of the pages differ from it in a line or two.
SCRIPT = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

x, y = torch.load('images.pt'), torch.load('labels.pt')
train_set = TensorDataset(x[:5000], y[:5000])
test_set = TensorDataset(x[5000:], y[5000:])
train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
test_loader = DataLoader(test_set, batch_size=100)

net = nn.Sequential(nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 10))
net.to('cuda')
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=0.001)


def accuracy(net, loader):
    right, count = 0, 0
    for images, labels in loader:
        right += (net(images.to('cuda')).argmax(1).cpu() == labels).sum().item()
        count += len(labels)
    return right / count


for epoch in range(10):
    for images, labels in train_loader:
        loss = criterion(net(images.to('cuda')), labels.to('cuda'))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, accuracy(net, test_loader))
torch.save(net.state_dict(), 'net.pt')
"""


def changed(*lines: str) -> str:
    """The script with some texts in place of others: old, new, old, new."""
    return with_changes(SCRIPT, lines)
