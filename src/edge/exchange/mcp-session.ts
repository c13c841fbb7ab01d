// Sessions of MCP servers, which only the member knows that began them: clients get the id of a session with
// a mark of that member, and the member gets its id without it.

import { memoizeEach } from '../../base/memo.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { equalsIgnoreCase, type FieldLines, field } from '../../http1/fields/fields.ts'
import { RequestHead } from '../../http1/heads/request-head.ts'
import type { EdgeMember, EdgePool } from '../origin/pools.ts'
import { HeaderChanges } from '../rewrite/headers.ts'
import type { Exchange } from './exchange.ts'
import type { McpExchange } from './mcp-exchange.ts'

const name = 'Mcp-Session-Id'
const lowerName = name.toLowerCase()

/** Refuses a session whose member has left the pool or is down while others are up (404). */
export function pickMemberOf(x: Exchange, mcp: McpExchange, session: string): Refusal | null {
  const { pool } = x.route!
  const [, id, mark] = /^(.+)~([0-9a-f]{4})$/.exec(session) ?? []
  const member = mark === undefined ? undefined : membersByMark(pool).get(mark)
  if (member === undefined) return sessionGone
  const picked = pool.pickBound(x, target => target === member.target)
  if (picked === null) return refuse('tunnel_error', { retryAfter: pool.secondsUntilHope })
  if (picked !== member) return sessionGone
  mcp.isBound = true
  x.member = member
  x.outgoing = Object.assign(new RequestHead(), x.outgoing, ownId(id!).applyTo(x.outgoing))
  return null
}

function ownId(id: string): HeaderChanges {
  return new HeaderChanges(new Set([lowerName]), [name, id], [field.other])
}

/** Marks the session of a response, if it begins one. */
export function withMark(x: Exchange, mcp: McpExchange, message: FieldLines): FieldLines {
  if (mcp.request === null || mcp.request.isStateless) return message
  const { fields } = message
  const isId = (i: number) => i % 2 === 1 && equalsIgnoreCase(fields[i - 1]!, lowerName)
  if (!fields.some((_, i) => isId(i))) return message
  return { ...message, fields: fields.map((value, i) => (isId(i) ? `${value}~${markOf(x)}` : value)) }
}

function markOf({ route, member }: Exchange): string {
  const marks = membersByMark(route!.pool)
  return marks.entries().find(([, marked]) => marked === member)![0]
}

/** Short, so that nobody learns the address of a member from its mark. */
const membersByMark = memoizeEach((pool: EdgePool): ReadonlyMap<string, EdgeMember> => {
  const marks = new Map<string, EdgeMember>()
  for (const member of pool.members) {
    let mark = (member.seed ^ (member.seed >>> 16)) & 0xffff
    while (marks.has(written(mark))) mark = (mark + 1) & 0xffff
    marks.set(written(mark), member)
  }
  return marks
})

function written(mark: number): string {
  return mark.toString(16).padStart(4, '0')
}

/** Clients then begin a new session. */
const sessionGone = refuse(
  'not_found',
  {
    faults: [{ code: -32_001, message: 'The session is not known.', pointer: null }],
    wording: {
      heading: 'The session is gone',
      detail: 'The server that had this session is down or was removed, or the session was begun elsewhere.',
      guidance:
        '**Begin a new session.** Send initialize without a session ID. MCP clients do so themselves.',
    },
  },
  { code: 'GH_MCP_SESSION' },
)
