// Looks whether the ports that the machines want are free, before anything is laid out: a clear word now is worth more
// than three units that fail to bind later, or checks that another program answers.
import { createServer } from 'node:net'
import { isErrno, RefusedError } from '../../lib/errors.ts'
import type { Problem } from '../../lib/problem.ts'
import type { DemoMachine } from './homelab.ts'

/** Refuses with all that are taken. */
export async function refuseBusyPorts(machines: readonly DemoMachine[]) {
  const wanted = machines.flatMap(machine => machine.urls.map(url => ({ machine, url })))
  const found = await Promise.all(wanted.map(async each => ({ ...each, free: await isFree(each.url) })))
  const problems = found.filter(({ free }) => !free).map(({ machine, url }) => portBusy(machine, url))
  if (problems.length > 0) throw new RefusedError('demo.port-busy', 'The demo cannot have its ports.', { problems })
}

const portBusy = ({ name, file }: DemoMachine, { host, port }: URL): Problem => ({
  code: 'demo.port-busy',
  path: '',
  reason: `${host} is in use, and ${name} needs it`,
  hint: `ss -ltnp 'sport = :${port}' names who has it. Or give ${name} another port: PORT and the check in ${file}.`,
})

function isFree({ hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', error => (isErrno(error, 'EADDRINUSE') ? resolve(false) : reject(error)))
    server.listen({ host: hostname, port: Number(port), exclusive: true }, () => server.close(() => resolve(true)))
  })
}
