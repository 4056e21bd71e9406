// Every machine but the one that keeps the backups is a client.
local keeper = 'borea';
local clients = ['atlas', 'cleo'];
{
  kind: 'Instance',
  metadata: { name: 'nightly' },
  spec: {
    module: { name: 'borgbackup' },
    roles: {
      server: { machines: [keeper] },
      client: {
        settings: { exclude: ['*.pyc'] },
        machines: { [name]: { settings: { startAt: '0%d:00' % (2 + i) } } for i in std.range(0, std.length(clients) - 1) for name in [clients[i]] },
      },
    },
  },
}
