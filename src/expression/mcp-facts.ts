// The facts that conditions about requests to MCP servers may read, as our code and the language see them.

import { type ClaimFacts, claimVariables, ClaimVariables } from './claim-facts.ts'

export interface McpFacts extends ClaimFacts {
  readonly mcp: McpRequestFacts
}

/** Each is empty where a request has none. */
interface McpRequestFacts {
  readonly method: string
  readonly tool: string
  readonly prompt: string
  readonly resource: string
  readonly version: string
}

/** A class, as the language needs it. */
export class McpView implements McpRequestFacts {
  readonly method: string
  readonly tool: string
  readonly prompt: string
  readonly resource: string
  readonly version: string

  constructor({ method, tool, prompt, resource, version }: McpRequestFacts) {
    this.method = method
    this.tool = tool
    this.prompt = prompt
    this.resource = resource
    this.version = version
  }
}

export const mcpFields: Readonly<Record<keyof McpRequestFacts, string>> = {
  method: 'string',
  tool: 'string',
  prompt: 'string',
  resource: 'string',
  version: 'string',
}

export const mcpVariables = { ...claimVariables, mcp: 'Mcp' } as const

export class McpVariables extends ClaimVariables {
  readonly mcp: McpView

  constructor(facts: McpFacts) {
    super(facts)
    this.mcp = new McpView(facts.mcp)
  }
}
