import { painter, type Style } from './style.ts'

/** Plain text, 100 columns, noon of a fixed day; a test names what differs. */
export const aStyle = (differs: Partial<Style> = {}): Style => ({
  width: 100,
  now: new Date('2026-11-15T12:00:00.000Z'),
  where: '',
  paint: painter(false),
  ...differs,
})
