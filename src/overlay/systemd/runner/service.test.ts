import { describe, expect, it } from 'vitest'
import type { UnitName } from '../../names.ts'
import { mergeTexts } from '../../units/effective.ts'
import { Cannot } from './cannot.ts'
import { readDefinitions } from './definitions.ts'
import { BadSetting, readService } from './service.ts'

const unitOf = (text: string) =>
  mergeTexts({ name: 'a.service' as UnitName, base: 'here', texts: [{ path: 'a.service', text }] })
const read = (service: string, unit = '') => readService(unitOf(`[Unit]\n${unit}\n[Service]\n${service}\n`))

describe('a service', () => {
  it('has the defaults of systemd', () => {
    expect(read('ExecStart=/bin/a')).toMatchObject({
      type: 'simple',
      restart: 'no',
      restartMs: 100,
      killSignal: 'SIGTERM',
      startTimeoutMs: 90_000,
      stopTimeoutMs: 90_000,
      startLimit: { burst: 5, intervalMs: 10_000 },
      workingDirectory: { path: '/', optional: false },
    })
  })

  it('may take as long as it likes to start when it is a oneshot', () => {
    expect(read('Type=oneshot\nExecStart=/bin/a')).toMatchObject({ startTimeoutMs: null, stopTimeoutMs: 90_000 })
    expect(read('Type=oneshot\nExecStart=/bin/a\nTimeoutSec=5')).toMatchObject({
      startTimeoutMs: 5000,
      stopTimeoutMs: 5000,
    })
  })

  it('says all that the runner honours', () => {
    const service = read(
      'Type=exec\nExecStart=/bin/a\nExecReload=/bin/b\nExecStop=/bin/c\nRestart=always\nRestartSec=2s\nKillSignal=INT\n' +
        'SuccessExitStatus=3 SIGKILL\nEnvironmentFile=-/etc/a.env\nWorkingDirectory=/etc\nStateDirectory=a b/c',
      'StartLimitBurst=2\nStartLimitIntervalSec=infinity',
    )
    expect(service).toMatchObject({
      type: 'exec',
      restart: 'always',
      restartMs: 2000,
      killSignal: 'SIGINT',
      environmentFiles: [{ path: '/etc/a.env', optional: true }],
      workingDirectory: { path: '/etc', optional: false },
      stateDirectories: ['a', 'b/c'],
      startLimit: { burst: 2, intervalMs: Number.POSITIVE_INFINITY },
    })
    expect([...service.success]).toEqual([3, 'SIGKILL'])
  })

  it.each([
    ['Type=notify\nExecStart=/bin/a', 'honour Type=notify'],
    ['ExecStart=/bin/a\nPrivateTmp=yes\nUser=web', 'honour PrivateTmp=, User='],
    ['ExecStart=/bin/a\nExecStartPre=/bin/b', 'honour ExecStartPre='],
    ['ExecStart=/bin/a\nKillMode=process', 'honour KillMode=process'],
    ['ExecStart=/bin/a\nStandardOutput=file:/tmp/x', 'honour StandardOutput=file:/tmp/x'],
    ['ExecStart=/bin/a\nRestart=sometimes', 'honour Restart=sometimes'],
    ['ExecStart=/bin/a\nTimeoutStopSec=a while', 'honour TimeoutStopSec=a while'],
    ['Type=oneshot\nExecStart=/bin/a\nRestart=on-failure', 'honour Restart=on-failure of a oneshot'],
    ['ExecStart=/bin/a\nStateDirectory=../x', 'honour StateDirectory=../x'],
    ['ExecStart=/bin/a\nSuccessExitStatus=DATAERR', 'honour SuccessExitStatus=DATAERR'],
    ['ExecStart=/bin/a\nWorkingDirectory=~', 'honour WorkingDirectory=~: not an absolute path'],
  ])('is refused by name: %j', (text, message) => {
    expect(() => read(text)).toThrow(new Cannot(message))
  })

  it.each(['ExecReload=/bin/a', 'ExecStart=/bin/a\nExecStart=/bin/b', 'ExecStart=/bin/a ; /bin/b'])(
    'is as broken as systemd finds it: %j',
    text => {
      expect(() => read(text)).toThrow(BadSetting)
    },
  )

  it('keeps keys that begin with X- for whoever they are meant for', () => {
    expect(read('ExecStart=/bin/a\nX-RestartIfChanged=false', 'X-Reload-Triggers=abc').type).toBe('simple')
  })
})

describe('a unit', () => {
  const runsOf = (name: string, text: string) => readDefinitions(new Map([[name, { text }]])).of(name as UnitName).runs

  it.each([
    ['a.timer', '[Timer]\nOnBootSec=1\n', 'the runner cannot run a timer'],
    ['a.socket', '[Socket]\nListenStream=1\n', 'the runner cannot run a socket'],
    [
      'a.service',
      '[Unit]\nConditionPathExists=/x\n[Service]\nExecStart=/bin/a\n',
      'the runner cannot honour ConditionPathExists=',
    ],
    ['a.service', '[Service]\nType=forking\nExecStart=/bin/a\n', 'the runner cannot honour Type=forking'],
  ])('%s is loaded, but refused in words', (name, text, why) => {
    expect(runsOf(name, text)).toEqual({ as: 'nothing', load: 'loaded', why })
  })

  it('is a group when it is a target', () => {
    expect(runsOf('a.target', '[Unit]\nDescription=a\n')).toEqual({ as: 'target' })
  })
})
