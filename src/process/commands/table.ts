// Data as people read it at a terminal, and as programs do. What comes from outside may say anything but steer the terminal.

/** Writes rows in columns that stand below each other, a line feed after each. */
export function columns(rows: readonly (readonly string[])[]): string {
  const shown = rows.map(row => row.map(visible))
  const widths = shown.reduce<number[]>(
    (widest, row) => row.map((cell, i) => Math.max(widest[i] ?? 0, cell.length)),
    [],
  )
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd()
  return shown.map(row => `${line(row)}\n`).join('')
}

/** Writes a value as JSON, indented. */
export function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2).replace(steeringInJson, escapeInJson)}\n`
}

/** Writes what could steer a terminal, turn the order of the text around, or stand there unseen, as an escape sequence. */
export function visible(text: string): string {
  return text.replace(steering, character => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/** The joiners stay: scripts and emoji are written with them. */
const steering = /(?![\u200c\u200d])[\p{C}\u2028\u2029]/gu
/** Line feeds stand between the members of JSON; within its texts they are escaped already. */
const steeringInJson = /(?![\n\u200c\u200d])[\p{C}\u2028\u2029]/gu

function escapeInJson(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
  return units.map(unit => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
