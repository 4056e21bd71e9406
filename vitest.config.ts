import { defineConfig } from 'vitest/config'

// unit: beside the code, on values, temporary directories and loopback; runs anywhere without root. Files share their worker,
// so that each module is loaded once and not once for every file: a test that changes its process changes it back.
// system: real systemd, real peers, whole processes; each test says what it needs (test/require.ts).
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'services/**/*.test.ts'],
          testTimeout: 20_000,
          isolate: false,
        },
      },
      {
        test: {
          name: 'system',
          include: ['test/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
