import { expect, it } from 'vitest'
import { aStyle } from '../../lib/style.fake.ts'
import { catalogue } from '../commands/all.ts'
import { helpAnswer } from './help.ts'

const pages = ['', 'exit-codes', ...[...catalogue.topics, ...catalogue.commands].map(({ name }) => name)]

it.each(pages)('help about "%s"', async about => {
  const text = helpAnswer(catalogue, about).text(aStyle())
  await expect(text).toMatchFileSnapshot(`golden/help${about ? `-${about.replaceAll(' ', '-')}` : ''}.txt`)
})

it('fits a narrow terminal', () => {
  const lines = helpAnswer(catalogue, 'node gc')
    .text(aStyle({ width: 64 }))
    .split('\n')
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(64)
})

it('gives programs the same description', () => {
  const { json } = helpAnswer(catalogue, 'node gc')
  expect(json).toMatchObject({
    name: 'node gc',
    options: expect.arrayContaining([
      { spelling: '--keep N', about: expect.any(String), required: false, repeats: false },
    ]),
  })
})
