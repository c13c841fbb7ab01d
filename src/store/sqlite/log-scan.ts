// Finds the entries of a gateway that a query asks for, in slices between which other work of the process goes on.
import { setImmediate as breathe } from 'node:timers/promises'
import { compareLogValues } from '../log-match.ts'
import type { LogQuery } from '../store.ts'
import type { Database, Value } from './database.ts'
import { conditionOf, termOf } from './log-conditions.ts'

const slice = 10_000

/** What was found: how many match, and the numbers of the page. */
export interface Found {
  readonly numbers: readonly number[]
  readonly total: number
}

interface Candidate {
  readonly number: number
  readonly value: string | number | null
  readonly created_at: number
  readonly id: string
}

/** Looks through all entries of the gateway of that key. */
export async function scan(db: Database, gateway: number, query: LogQuery): Promise<Found> {
  const most = query.offset + query.limit
  const { numberFrom, read } = await db.read(() => compile(db, query))
  let best: Candidate[] = []
  let total = 0
  let from = await db.read(() => numberFrom(gateway, 0))
  while (from !== null) {
    const start = from
    const found = await db.read(() => read(gateway, start, most))
    total += found.total
    best = best.concat(found.candidates).sort(order(query)).slice(0, most)
    await breathe()
    from = await db.read(() => numberFrom(gateway, start + slice))
  }
  return { numbers: best.slice(query.offset).map(({ number }) => number), total }
}

/** Compiles the query to what looks through the slice that begins at a number, and what finds the first number from one on. */
function compile(db: Database, { filters, orderBy, descending }: LogQuery) {
  const { sql, values } = conditionOf(filters)
  const turn = descending ? 'DESC' : 'ASC'
  const matching = `FROM logs WHERE key >= ? << 40 | ? AND key < ? << 40 | ? AND ${sql}`
  const count = db.prepare(`SELECT count(*) AS total ${matching}`)
  const page = db.prepare(
    `SELECT key - (? << 40) AS number, ${termOf(orderBy)} AS value, created_at, id ${matching}
     ORDER BY value ${turn}, created_at ${turn}, id ${turn} LIMIT ?`,
  )
  const first = db.prepare(
    'SELECT min(key) - (?1 << 40) AS number FROM logs WHERE key >= (?1 << 40 | ?2) AND key < (?1 + 1) << 40',
  )
  const read = (gateway: number, from: number, most: number) => {
    const bounds: Value[] = [gateway, from, gateway, from + slice, ...values]
    const total = Number(count.get(...bounds)!.total)
    if (total === 0) return { total, candidates: [] }
    return { total, candidates: page.all(gateway, ...bounds, most) as unknown as Candidate[] }
  }
  const numberFrom = (gateway: number, from: number) => first.get(gateway, from)!.number as number | null
  return { numberFrom, read }
}

function order({ descending }: LogQuery): (a: Candidate, b: Candidate) => number {
  const turn = descending ? -1 : 1
  return (a, b) =>
    turn * (compareLogValues(a.value, b.value) || a.created_at - b.created_at || compareLogValues(a.id, b.id))
}
