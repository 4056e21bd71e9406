import { expect, it } from 'vitest'
import { checkNoNetwork } from './self-check.ts'

const check = async (answers: readonly string[]) => {
  const tried: string[] = []
  const result = await checkNoNetwork(async host => {
    tried.push(host)
    return answers[tried.length - 1]!
  })
  return { ...result, tried }
}

it('passes when both tries are blocked', async () => {
  for (const code of ['ERR_ACCESS_DENIED', 'ENETUNREACH', 'EACCES', 'EPERM'])
    expect(await check([code, code])).toMatchObject({ checked: true, proof: [code, code] })
})

it('never tries an address elsewhere when loopback answers in any way', async () => {
  for (const how of ['ECONNREFUSED', 'timeout', 'connected'])
    expect(await check([how])).toEqual({ checked: false, proof: [how], tried: ['127.0.0.1'] })
})

it('fails when only the address elsewhere can be reached', async () => {
  expect(await check(['ENETUNREACH', 'timeout'])).toMatchObject({ checked: false, proof: ['ENETUNREACH', 'timeout'] })
})

it('fails in this process, which has a network', async () => {
  expect(await checkNoNetwork()).toMatchObject({ checked: false })
})
