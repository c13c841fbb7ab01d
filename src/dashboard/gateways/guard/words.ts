// What a guard does, in words.

import type { GuardAction, GuardCheck } from '../gateway.ts'

export const actionWords: Readonly<Record<GuardAction, string>> = {
  FLAG: 'Flag',
  REDACT: 'Redact',
  BLOCK: 'Block',
}

export const checkWords: Readonly<Record<GuardCheck, string>> = {
  REQUEST: 'Requests',
  RESPONSE: 'Responses',
}
