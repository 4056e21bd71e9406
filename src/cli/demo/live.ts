// Shows the machines' lines while they change: drawn again in place on a terminal, elsewhere written once, when they
// are final.
import { stripVTControlCharacters } from 'node:util'
import type { Screen } from '../../lib/terminal.ts'

export interface LiveLines {
  /** All lines as they are now. */
  show(lines: readonly string[]): void
  /** As they stay. */
  end(lines: readonly string[]): void
}

export function liveLines(screen: Screen): LiveLines {
  let drawn = 0
  const draw = (lines: readonly string[]) => {
    const back = drawn > 0 ? `\x1b[${drawn}A\r\x1b[J` : ''
    drawn = lines.length
    screen.write(back + lines.map(line => `${line}\n`).join(''))
  }
  return {
    show: lines => {
      if (screen.live) draw(lines.map(line => onOneLine(line, screen.width() - 1)))
    },
    end: draw,
  }
}

/** A line that wraps would be two lines on the screen and spoil the next drawing. What has to be cut loses its colour. */
function onOneLine(line: string, width: number): string {
  const plain = [...stripVTControlCharacters(line)]
  return plain.length <= width ? line : plain.slice(0, width).join('')
}
