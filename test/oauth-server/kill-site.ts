// Runs as a process of its own: lets an app in, writes what it was given as a line, and waits to be killed.

import type { TestContext } from 'node:test'
import { codeOf, tokensOf, visit } from './app.ts'
import { startSite } from './site.ts'

const [, , url] = process.argv
const never = { after: () => {} } as unknown as TestContext
const site = await startSite(never, { url: url! })
const { app, browser } = await visit(site)
const tokens = await tokensOf(site, browser, app)
const code = await codeOf(site, browser, app.client)
process.stdout.write(`${JSON.stringify({ app, tokens, code })}\n`)
