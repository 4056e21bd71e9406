// What ten times the files cost: our times at both sizes of a series. The start of Node is in both, so that the factor
// is below 1 where it weighs much at the small size.
import type { Growth } from '../lib/report.ts'
import type { SeriesResult } from '../lib/rounds.ts'

export function growthOf(small: SeriesResult, large: SeriesResult): Growth[] {
  return large.steps.flatMap(({ step, contenders: [ours] }) => {
    const [before] = small.steps.find(each => each.step === step)?.contenders ?? []
    if (!ours || !before) return []
    return [
      {
        step,
        small: { files: small.files, ms: before.ms.median },
        large: { files: large.files, ms: ours.ms.median },
        factor: ours.ms.median / before.ms.median / (large.files / small.files),
      },
    ]
  })
}
