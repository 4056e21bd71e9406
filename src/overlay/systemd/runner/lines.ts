// Lines out of a stream of bytes, whole and in order. One that never ends is cut off with the connection.
import type { Socket } from 'node:net'

const longestLine = 4 * 1024 * 1024

export function readLines(socket: Socket, onLine: (line: string) => void) {
  let parts: Buffer[] = []
  let length = 0
  socket.on('data', (bytes: Buffer) => {
    let rest = bytes
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      onLine(Buffer.concat([...parts, rest.subarray(0, end)]).toString('utf8'))
      parts = []
      length = 0
      rest = rest.subarray(end + 1)
    }
    parts.push(rest)
    length += rest.length
    if (length > longestLine) socket.destroy(new Error(`a line is longer than ${longestLine} bytes`))
  })
}
