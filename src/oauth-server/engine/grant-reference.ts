// How a code and its tokens name the grant that they are of, and the family of what was given for one code. The engine takes it as one id.

import { everybody } from '../../store/records/people.ts'

export interface GrantReference {
  /** The account of the grant; `everybody` where it reaches none. */
  readonly account: string
  readonly grant: string
  /** Names what was given for one code: its tokens end together. */
  readonly family: string
}

/** Writes a reference as the engine keeps it. */
export function writeReference({ account, grant, family }: GrantReference): string {
  return `${account}.${grant}.${family}`
}

/** Reads what `writeReference` wrote; null for anything else. */
export function readReference(text: string | undefined): GrantReference | null {
  const [account = '', grant = '', family = '', ...rest] = (text ?? '').split('.')
  const isWhole = [grant, family].every(isId) && (isId(account) || account === everybody)
  return isWhole && rest.length === 0 ? { account, grant, family } : null
}

function isId(text: string): boolean {
  return /^[\da-f]{32}$/.test(text)
}
