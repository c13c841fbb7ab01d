// Sentences about the previous action: the address of a page selects one of them, and cannot contain any
// other text.

import { type PageResponse, redirectTo } from '../../pages/parts/layout.ts'

const messages = {
  'client-changed': 'The client was changed.',
  'client-scopes-changed':
    'The scopes were changed. What people allowed and is no longer asked for has ended.',
  'client-published': 'The client is public: everybody may allow it.',
  'client-deleted': 'The client was deleted, with all that people allowed it.',
  'secret-dropped': 'The old secret was deleted.',
  'verification-restarted': 'The verification began again.',
  'grant-ended': 'The consent has ended.',
  'grants-ended': 'All consents have ended.',
  'gateway-created': 'The gateway was created.',
  'gateway-changed': 'The settings were saved. They apply within a second.',
  'guard-changed': 'The guard was saved. It applies within a second.',
  'responses-deleted': 'The stored responses were deleted. No call gets one after a second.',
  'gateway-deleted': 'The gateway was deleted, with its logs.',
  'provider-key-added': 'The key was added. Calls use it within a second.',
  'provider-key-deleted': 'The key was deleted. No call uses it after a second.',
  'custom-provider-added': 'The provider was added. Calls reach it within a second.',
  'custom-provider-enabled': 'The provider is enabled. Calls reach it within a second.',
  'custom-provider-disabled': 'The provider is disabled. Calls to it are refused within a second.',
  'custom-provider-deleted': 'The provider was deleted. No call reaches it after a second.',
  'budget-added': 'The budget was added. It applies within a second.',
  'budget-changed': 'The budget was changed. It applies within a second.',
  'budget-deleted': 'The budget was removed. Calls are not held to it any more.',
  'budget-reset': 'The budget starts over.',
  'budgets-changed': 'The settings of budgets were saved. They apply within a second.',
  'policy-added': 'The policy was added to the draft. Commit it to put it in effect.',
  'policy-changed': 'The policy was changed in the draft. Commit it to put it in effect.',
  'policy-removed': 'The policy was removed from the draft. Commit it to put that in effect.',
  'policies-committed': 'The draft was committed. Calls are decided by it within a second.',
  'policies-discarded': 'The draft was discarded.',
  'policies-rolled-back': 'The earlier policies are in effect again within a second.',
  'route-created': 'The route was created. Calls can use it within a second.',
  'route-saved': 'The route was saved.',
  'route-deployed': 'The version was deployed. Calls go there within a second.',
  'route-deleted': 'The route was deleted, with its versions.',
  'authentication-on': 'Authentication is on: calls without a valid token are refused.',
  'authentication-off': 'Authentication is off: anyone can call this gateway.',
  'roles-changed': 'The roles were changed. What they open follows at once.',
  'member-signed-out': 'The member was signed out everywhere.',
  'member-removed': 'The member was removed.',
  'two-factor-changed': 'The rule for members was changed.',
  'unregistered-apps-changed': 'The rule for apps was changed.',
  'app-ended': 'The app can no longer act for the member.',
  'access-rule-created': 'The rule was created. It decides on requests from now on.',
  'access-rule-changed': 'The rule was changed.',
  'access-rule-moved': 'The rule was moved.',
  'access-rule-deleted': 'The rule was deleted.',
  'error-rule-created': 'The rule was added. It is in effect now.',
  'error-rule-changed': 'The rule was changed. It is in effect now.',
  'error-rule-deleted': 'The rule was deleted.',
  'error-rules-ordered': 'The rules have their new order.',
  'error-page-set': 'The page is served from now on.',
  'error-page-removed': 'The page was removed.',
  'own-token-revoked': 'Your token was revoked. It is refused from now on.',
  'token-changed': 'The token was changed.',
  'token-disabled': 'The token is disabled. Anyone who uses it is refused from now on.',
  'token-enabled': 'The token is active again.',
  'token-revoked': 'The token was revoked. Anyone who uses it is refused from now on.',
} as const

export type FlashMessage = keyof typeof messages

/** Returns the sentence that an address selects; null for anything else. */
export function flashMessageOf(query: URLSearchParams): string | null {
  const name = query.get('done') ?? ''
  return Object.hasOwn(messages, name) ? messages[name as FlashMessage] : null
}

/** Adds the previous action to the path of a page. */
export function withMessage(path: string, deed: FlashMessage, page = 1): string {
  return `${path}?done=${deed}${page > 1 ? `&page=${page}` : ''}`
}

/** Redirects to a page that confirms the previous action. */
export function redirectWith(path: string, deed: FlashMessage): PageResponse {
  return redirectTo(withMessage(path, deed))
}
