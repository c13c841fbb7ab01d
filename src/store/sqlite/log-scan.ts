// Finds the entries of a gateway that a query asks for, in slices between which other work of the process goes on.
import { setImmediate as breathe } from 'node:timers/promises'
import { compareLogValues } from '../log-match.ts'
import type { LogQuery } from '../store.ts'
import type { Database, Statement, Value } from './database.ts'
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
  const end = query.offset + query.limit
  const next = db.prepare(
    'SELECT min(key) - (?1 << 40) AS number FROM logs WHERE key >= (?1 << 40 | ?2) AND key < (?1 + 1) << 40',
  )
  const read = reader(db, query)
  let best: Candidate[] = []
  let total = 0
  let from = await db.read(() => firstNumber(next, gateway, 0))
  while (from !== null) {
    const found = await db.read(() => read(gateway, from!, end))
    total += found.total
    best = best.concat(found.candidates).sort(order(query)).slice(0, end)
    from = await db.read(() => firstNumber(next, gateway, from! + slice))
    if (from !== null) await breathe()
  }
  return { numbers: best.slice(query.offset).map(({ number }) => number), total }
}

function firstNumber(next: Statement, gateway: number, from: number): number | null {
  return next.get(gateway, from)!.number as number | null
}

/** Compiles the query to a function that looks through the slice which begins at a number. */
function reader(db: Database, { filters, orderBy, descending }: LogQuery) {
  const { sql, values } = conditionOf(filters)
  const turn = descending ? 'DESC' : 'ASC'
  const matching = `FROM logs WHERE key >= ? << 40 | ? AND key < ? << 40 | ? AND ${sql}`
  const count = db.prepare(`SELECT count(*) AS total ${matching}`)
  const page = db.prepare(
    `SELECT key - (? << 40) AS number, ${termOf(orderBy)} AS value, created_at, id ${matching}
     ORDER BY value ${turn}, created_at ${turn}, id ${turn} LIMIT ?`,
  )
  return (gateway: number, from: number, most: number) => {
    const bounds: Value[] = [gateway, from, gateway, from + slice, ...values]
    const total = Number(count.get(...bounds)!.total)
    if (total === 0) return { total, candidates: [] }
    return { total, candidates: page.all(gateway, ...bounds, most) as unknown as Candidate[] }
  }
}

function order({ descending }: LogQuery): (a: Candidate, b: Candidate) => number {
  const turn = descending ? -1 : 1
  return (a, b) =>
    turn * (compareLogValues(a.value, b.value) || a.created_at - b.created_at || compareLogValues(a.id, b.id))
}
