import { expect, it } from 'vitest'
import { t } from './etc.fake.ts'
import { printEtcPlan } from './print.ts'

it('shows a line a target with its reason, and counts them', async () => {
  const summary = {
    add: [
      { target: t('caddy/Caddyfile'), reason: 'takes over the file that is there and keeps a backup', from: 'caddy' },
      { target: t('caddy/routes'), reason: 'new', from: 'caddy' },
    ],
    change: [{ target: t('motd'), reason: 'content changed, mode 0644 → 0600', from: 'base' }],
    remove: [
      {
        target: t(`systemd/system/${'very-'.repeat(12)}long.service`),
        reason: 'no longer declared',
        from: 'unit long.service',
      },
      { target: t('stray'), reason: 'left over from an earlier generation' },
    ],
    conflict: [],
  }
  await expect(printEtcPlan({ summary })).toMatchFileSnapshot('golden/plan.txt')
})

it('says so when nothing changes', () => {
  expect(printEtcPlan({ summary: { add: [], change: [], remove: [], conflict: [] } })).toBe('/etc: no changes.\n')
})
