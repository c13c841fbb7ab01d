// What the main figures were at earlier commits, as a table of Markdown: pure functions.
import { table } from './report.ts'
import { type Results, type Subject, ratio, intervalOf } from './results.ts'
import { NATIVE, OPEN } from './mixes.ts'

const cost = (peer: string, mix: Subject['mix']): Subject => ({ peer, mix, metric: 'cost' })

const columns: readonly (readonly [title: string, subject: Subject, base: Subject])[] = [
  ['GET', cost('gatehouse', 'get'), cost('nginx', 'get')],
  ['POST', cost('gatehouse', 'post'), cost('nginx', 'post')],
  ['1 MiB up', cost('gatehouse', 'upload'), cost('nginx', 'upload')],
  ['1 MiB down', cost('gatehouse', 'download'), cost('nginx', 'download')],
  ['chat', cost(NATIVE, 'chat'), cost('nginx', 'chat')],
  ['chat ÷ open', cost(NATIVE, 'chat'), cost(OPEN, 'chat')],
  ['streamed token', cost(NATIVE, 'ttft'), cost('nginx', 'ttft')],
]

const head = ['date', 'commit', ...columns.map(([title]) => title)]

const text = `# CPU over the commits

Each figure is CPU of Gatehouse against nginx, or for "chat ÷ open" against chats without token and log, with its 95 %
interval where both ran beside each other.
`

/** Returns the row of one run. */
export function historyRow(results: Results): string[] {
  const cells = columns.map(([, subject, base]) => {
    const found = intervalOf(results, subject, base)
    if (found) return `${found.ratio.toFixed(2)} (${found.low.toFixed(2)}–${found.high.toFixed(2)})`
    return ratio(results.runs, subject, base)?.toFixed(2) ?? '–'
  })
  return [results.date, results.commit ?? '–', ...cells]
}

/** Returns the page with these rows. */
export function historyTable(rows: readonly (readonly string[])[]): string {
  return `${text}\n${table(head, rows)}\n`
}

/** Reads the rows of such a page. */
export function parseHistory(page: string): string[][] {
  return page
    .split('\n')
    .filter(line => /^\| \d{4}-/.test(line))
    .map(line =>
      line
        .slice(1, -1)
        .split('|')
        .map(cell => cell.trim()),
    )
}
