import { describe, expect, it } from 'vitest'
import { didYouMean, nearest } from './suggest.ts'

describe('did you mean', () => {
  it.each([
    ['a letter left out', 'metadta', 'metadata'],
    ['two letters swapped', 'harobr', 'harbor'],
    ['another case', 'label', 'Label'],
    ['one mistake in a short word', 'ta', 'tag'],
  ])('names what was meant after %s', (_, written, meant) => {
    expect(nearest(written, ['other', meant])).toBe(meant)
  })

  it.each([
    ['more than one letter in three', 'tog', 'bag'],
    ['three letters of a long word', 'discoverpolicref', 'discoveryPolicyRefs'],
  ])('is silent after mistakes in %s', (_, written, other) => {
    expect(didYouMean(written, [other])).toBeUndefined()
  })

  it('prefers the nearest', () => {
    expect(didYouMean('machin', ['machines', 'machine'])).toBe('did you mean "machine"?')
  })
})
