// Where an account begins: with the first section that its member may see.

import { html } from '../base/text/html.ts'
import { redirectTo } from '../pages/layout.ts'
import type { Handler } from './ask.ts'

export const showHome: Handler = async ({ sections, account }) => {
  const [first] = sections
  if (first !== undefined) return redirectTo(first.path)
  return {
    title: account.name,
    content: html`<div class="card"><p>Your roles in this account open no page here. Ask an administrator of the account for another role.</p></div>`,
  }
}
