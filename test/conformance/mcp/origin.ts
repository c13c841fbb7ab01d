// An MCP server with the tools, prompts and resources that the conformance suite asks for, as far as the SDK offers them for both kinds of revisions.

import { McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import * as z from 'zod'

const picture =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const sound = Buffer.from('RIFF').toString('base64')

const description = 'For the suite.'

const text = (text: string) => ({ type: 'text' as const, text })
const image = { type: 'image' as const, data: picture, mimeType: 'image/png' }
const audio = { type: 'audio' as const, data: sound, mimeType: 'audio/wav' }
const embedded = (uri: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType: 'text/plain', text: 'This is an embedded resource content.' },
})

export function makeConformanceServer(): McpServer {
  const server = new McpServer({ name: 'conformance', version: '1' })
  addTools(server)
  addResources(server)
  addPrompts(server)
  return server
}

function addTools(server: McpServer): void {
  server.registerTool('test_simple_text', { description }, () => ({
    content: [text('This is a simple text response for testing.')],
  }))
  server.registerTool('test_image_content', { description }, () => ({ content: [image] }))
  server.registerTool('test_audio_content', { description }, () => ({ content: [audio] }))
  server.registerTool('test_embedded_resource', { description }, () => ({
    content: [embedded('test://embedded-resource')],
  }))
  server.registerTool('test_multiple_content_types', { description }, () => ({
    content: [text('Multiple content types test:'), image, embedded('test://mixed-content-resource')],
  }))
  server.registerTool('test_error_handling', { description }, () => {
    throw new Error('This tool intentionally returns an error for testing')
  })
  server.registerTool('test_tool_with_progress', { description }, async context => {
    const progressToken = context.mcpReq._meta?.progressToken
    for (const progress of progressToken === undefined ? [] : [0, 50, 100])
      await context.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken: progressToken!, progress, total: 100 },
      })
    return { content: [text(String(progressToken))] }
  })
  const fields = { 'x-mcp-header': 'Region' }
  server.registerTool(
    'test_custom_headers',
    { description, inputSchema: z.object({ region: z.string().meta(fields).optional() }) },
    () => ({ content: [text('done')] }),
  )
}

function addResources(server: McpServer): void {
  const plain = { mimeType: 'text/plain' }
  server.registerResource('static-text', 'test://static-text', plain, uri => ({
    contents: [{ uri: uri.href, ...plain, text: 'This is the content of the static text resource.' }],
  }))
  server.registerResource('static-binary', 'test://static-binary', { mimeType: 'image/png' }, uri => ({
    contents: [{ uri: uri.href, mimeType: 'image/png', blob: picture }],
  }))
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined })
  server.registerResource('template', template, { mimeType: 'application/json' }, (uri, { id }) => ({
    contents: [
      {
        uri: uri.href,
        mimeType: 'application/json',
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
      },
    ],
  }))
}

function addPrompts(server: McpServer): void {
  const said = (...content: (typeof image | ReturnType<typeof text> | ReturnType<typeof embedded>)[]) => ({
    messages: content.map(content => ({ role: 'user' as const, content })),
  })
  server.registerPrompt('test_simple_prompt', { description }, () =>
    said(text('This is a simple prompt for testing.')),
  )
  const argsSchema = z.object({ arg1: z.string(), arg2: z.string() })
  server.registerPrompt('test_prompt_with_arguments', { description, argsSchema }, ({ arg1, arg2 }) =>
    said(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  )
  const resource = z.object({ resourceUri: z.string() })
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description, argsSchema: resource },
    ({ resourceUri }) => said(embedded(resourceUri), text('Please process the embedded resource above.')),
  )
  server.registerPrompt('test_prompt_with_image', { description }, () =>
    said(image, text('Please analyze the image above.')),
  )
}
