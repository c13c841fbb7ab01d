import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { cookiesOf } from '../../../src/oauth-server/http/cookies.ts'

const fields: readonly (readonly [cookie: string | undefined, cookies: readonly string[]])[] = [
  [undefined, ['']],
  ['a=1; b=2;\t c=3 ', ['a=1', 'b=2', 'c=3']],
  // Browsers apply the rules of the prefix to none of these names.
  ['\xa0__Secure-gatehouse_consent=a', ['\xa0__Secure-gatehouse_consent=a']],
]

test('a cookie is what is between semicolons, without the spaces and tabs around it', () => {
  for (const [cookie, cookies] of fields) deepEqual(cookiesOf({ headers: { cookie } }), cookies)
})
