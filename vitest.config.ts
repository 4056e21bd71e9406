import { defineConfig } from 'vitest/config'

// unit: beside the code, on values, temporary directories and loopback; runs anywhere without root.
// system: real systemd, real peers, whole processes; each test says what it needs (test/require.ts).
export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['src/**/*.test.ts', 'services/**/*.test.ts'], testTimeout: 20_000 } },
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
