// The request fields that AI routes read, and those that are removed here: what a caller tells the gateway is not meant for a provider.

import { equalsIgnoreCase, type FieldId, type FieldLines, field } from '../../http1/fields.ts'
import type { RequestHead } from '../../http1/request-head.ts'
import { holdsOurs, isMisborne, valueHoldsOurs } from '../../tokens/misplaced.ts'

/** Marks a field that came twice where only one can count. */
export const repeated = Symbol('repeated')
export type Once = string | null | typeof repeated

/** What a field may contain: a credential of this gateway as Bearer, or none. The names of all but `any` are known in whole. */
type Kind = 'bearer' | 'known' | 'any'

/** The settings that a caller sends to an AI gateway. */
export class AiFields {
  authorization: Once = null
  gatewayAuthorization: Once = null
  gatewayId: Once = null
  metadata: Once = null
  collectLog: Once = null
  collectLogPayload: Once = null
  contentType: string | null = null
  contentEncoding: string | null = null
  /** The first field for the gateway that is unknown, in lower case; null where there is none. */
  unknown: string | null = null
  /** Where a credential of this gateway was found in a field that must not have it; null where none was. */
  misplaced: string | null = null
  /** The lines that they were read from. */
  readonly ids: readonly FieldId[]

  constructor({ fields, ids }: FieldLines) {
    this.ids = ids
    for (let i = 0; i < ids.length; i++) {
      const [id, name, value] = [ids[i]!, fields[2 * i]!, fields[2 * i + 1]!]
      const kind = this.#take(id, name, value)
      this.misplaced ??= misplacedInField(id, name, value, kind)
    }
  }

  /** Takes one field; returns of which kind it is. */
  #take(id: FieldId, name: string, value: string): Kind {
    if (id === field.contentType) this.contentType = value
    else if (id === field.contentEncoding) this.contentEncoding = value
    if (id !== field.other) return 'any'
    if (isForGateway(name)) return this.#takeOurs(name.toLowerCase(), value)
    const isAuthorization = equalsIgnoreCase(name, 'authorization')
    if (!isAuthorization) return 'any'
    this.authorization = once(this.authorization, value)
    return 'bearer'
  }

  #takeOurs(name: string, value: string): Kind {
    switch (name) {
      case 'svc-aig-authorization':
        this.gatewayAuthorization = once(this.gatewayAuthorization, value)
        return 'bearer'
      case 'svc-aig-gateway-id':
        this.gatewayId = once(this.gatewayId, value)
        break
      case 'svc-aig-metadata':
        this.metadata = once(this.metadata, value)
        break
      case 'svc-aig-collect-log':
        this.collectLog = once(this.collectLog, value)
        break
      case 'svc-aig-collect-log-payload':
        this.collectLogPayload = once(this.collectLogPayload, value)
        break
      default:
        this.unknown ??= name.slice(0, longestName)
        return 'any'
    }
    return 'known'
  }
}

/** Reads the fields of a call, or returns those of the last one on its connection, whose lines it repeats. */
export function aiFieldsOf(head: RequestHead, last: { aiFields: AiFields | null }): AiFields {
  if (last.aiFields?.ids !== head.ids) last.aiFields = new AiFields(head)
  return last.aiFields
}

/** Returns where a call has a credential of this gateway that must not be there; null where it has none. */
export function misplacedIn({ method, target }: RequestHead, fields: AiFields): string | null {
  if (holdsOurs(target)) return placeIn(target)
  return holdsOurs(method) ? 'the method' : fields.misplaced
}

function placeIn(target: string): string {
  return holdsOurs(target.split('?', 1)[0]!) ? 'the path' : 'the query'
}

/** Returns the name of the field if it contains a credential of this gateway where it must not. */
function misplacedInField(id: FieldId, name: string, value: string, kind: Kind): string | null {
  // Other names are known in whole.
  const isFree = kind === 'any' && (id === field.other || id === field.xForwarded || id === field.twin)
  if (isFree && holdsOurs(name)) return 'the name of a header'
  const isMisplaced = kind === 'bearer' ? isMisborne(value) : valueHoldsOurs(value)
  return isMisplaced ? `the header ${name.slice(0, longestName).toLowerCase()}` : null
}

/** The most characters of a name that are shown. */
const longestName = 64

/** Whether a field is meant for the gateway alone, in any case and also with underscores: a provider might fold those into hyphens. */
export function isForGateway(name: string): boolean {
  if (name.length < prefix.length || (name.charCodeAt(0) | 0x20) !== 0x73) return false
  for (let i = 0; i < prefix.length; i++) {
    const char = name.charCodeAt(i)
    const expected = prefix.charCodeAt(i)
    if (char !== expected && (char | 0x20) !== expected && !(expected === 0x2d && char === 0x5f)) return false
  }
  return true
}

const prefix = 'svc-aig-'

function once(before: Once, value: string): Once {
  return before === null ? value : repeated
}
