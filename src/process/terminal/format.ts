// Formats data for people and programs. Data from outside cannot control the terminal.

import { visible, visibleJson } from '../../base/text/visible.ts'

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

export function json(value: unknown): string {
  return `${visibleJson(JSON.stringify(value, null, 2))}\n`
}
