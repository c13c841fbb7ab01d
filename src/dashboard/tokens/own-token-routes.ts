// The pages of a person's own tokens.

import type { Route } from '../page/page-request.ts'
import { createOwnToken, revokeOwnToken, showNewOwnToken, showOwnTokens } from './own-tokens.ts'

const tokens = '/dashboard/{account}/your-tokens'
const running = { permission: 'AI Gateway Run' } as const

export const ownTokenRoutes: readonly Route[] = [
  { path: tokens, ...running, show: showOwnTokens },
  { path: `${tokens}/new`, ...running, show: showNewOwnToken, effect: 'opens', take: createOwnToken },
  { path: `${tokens}/{token}/revoke`, ...running, effect: 'ends', take: revokeOwnToken },
]
