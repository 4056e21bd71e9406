import { expect, it } from 'vitest'
import { createLogger } from './logger.ts'

it('hides what must not be in a log, one and two levels deep, and leaves the rest', () => {
  const lines: string[] = []
  const logger = createLogger({ write: line => void lines.push(line) })
  logger.info({
    headers: { authorization: 'Bearer hunter2' },
    request: { body: { value: 'hunter2' } },
    token: 'hunter2',
  })
  logger.info({ route: 'getStack', status: 200 }, 'answered')
  expect(lines.join('')).not.toContain('hunter2')
  expect(JSON.parse(lines[1] ?? '')).toMatchObject({ route: 'getStack', status: 200, msg: 'answered' })
})
