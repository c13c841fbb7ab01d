// The handler of what the MCP servers of a zone were asked in the last day, by tool and by caller.

import { mcpScope, readMcpCount } from '../../activity/tally-scopes.ts'
import { tallyKinds, type TallySum } from '../../store/records/tally.ts'
import { type ApiResponse, success } from '../http/envelope.ts'
import type { Api, ZoneCall } from '../api/api-types.ts'

/** The most of each list: what happened most. */
export const maxShown = 50

const results = ['answered', 'refused', 'failed', 'cancelled'] as const
type Results = Record<(typeof results)[number], number>

interface Message extends Results {
  readonly method: string
  readonly name: string | null
  ms: number
}

interface Caller extends Results {
  readonly subject: string
}

interface Refused {
  readonly method: string
  readonly name: string | null
  readonly reason: string
  readonly count: number
}

export async function listMcpRoutes({ zone, now }: ZoneCall, { store }: Api): Promise<ApiResponse> {
  const result: object[] = []
  const since = now - tallyKinds.mcp.retention
  for (const { path, pool } of zone.routes.filter(({ mcp }) => mcp != null)) {
    const sums = await store.tallies.list('mcp', mcpScope(zone.name, path), since)
    result.push({ route: path, pool: pool?.name ?? null, ...viewOf(sums) })
  }
  return success(result)
}

function viewOf(sums: readonly TallySum[]) {
  const messages = new Map<string, Message>()
  const callers = new Map<string, Caller>()
  const refusals: Refused[] = []
  const messageOf = (method: string, name: string) => {
    const key = JSON.stringify([method, name])
    const message = messages.get(key) ?? { method, name: nameOf(name), ...nothing, ms: 0 }
    messages.set(key, message)
    return message
  }
  for (const { name: text, slots } of sums) {
    const count = slots.reduce((sum, [, count]) => sum + count, 0)
    const parts = readMcpCount(text)
    switch (parts[0]) {
      case 'message':
        addTo(messageOf(parts[1], parts[2]), parts[3], count)
        break
      case 'time':
        messageOf(parts[1], parts[2]).ms += count
        break
      case 'caller': {
        const caller = callers.get(parts[1]) ?? { subject: parts[1], ...nothing }
        callers.set(parts[1], caller)
        addTo(caller, parts[2], count)
        break
      }
      case 'refusal':
        refusals.push({ method: parts[1], name: nameOf(parts[2]), reason: parts[3], count })
    }
  }
  return {
    messages: mostOf([...messages.values()], totalOf).map(viewMessage),
    callers: mostOf([...callers.values()], totalOf),
    refusals: mostOf(refusals, ({ count }) => count),
  }
}

const nothing: Results = { answered: 0, refused: 0, failed: 0, cancelled: 0 }

function nameOf(name: string): string | null {
  return name === '' ? null : name
}

/** A result of a later version is not shown. */
function addTo(counts: Results, result: string, count: number): void {
  if (Object.hasOwn(nothing, result)) counts[result as keyof Results] += count
}

function totalOf(counts: Results): number {
  return results.reduce((sum, result) => sum + counts[result], 0)
}

function mostOf<T>(all: readonly T[], weight: (one: T) => number): readonly T[] {
  return all.toSorted((one, other) => weight(other) - weight(one)).slice(0, maxShown)
}

function viewMessage({ ms, ...message }: Message) {
  const timed = totalOf(message) - message.refused
  return { ...message, mean_ms: timed === 0 ? null : Math.round(ms / timed) }
}
