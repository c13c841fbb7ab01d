// A gRPC service for tests, whose messages are bytes: as its server has it, and as its clients call it.

import {
  type ClientDuplexStream,
  type ClientReadableStream,
  type ClientUnaryCall,
  type ClientWritableStream,
  credentials,
  type Metadata,
  makeGenericClientConstructor,
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServiceError,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import type { TestContext } from 'node:test'

type Method = MethodDefinition<Buffer, Buffer>

const asIs = (bytes: Buffer) => bytes

function method(path: string, requestStream: boolean, responseStream: boolean): Method {
  const path_ = `/test.Echo/${path}`
  return {
    path: path_,
    requestStream,
    responseStream,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  }
}

const service = {
  unary: method('Unary', false, false),
  collect: method('Collect', true, false),
  spread: method('Spread', false, true),
  both: method('Both', true, true),
}

type Done = (error: ServiceError | null, response?: Buffer) => void

/** A client of the service. */
export interface EchoClient {
  unary(request: Buffer, metadata: Metadata, options: { deadline?: number }, done: Done): ClientUnaryCall
  collect(done: Done): ClientWritableStream<Buffer>
  spread(request: Buffer, metadata?: Metadata): ClientReadableStream<Buffer>
  both(metadata?: Metadata): ClientDuplexStream<Buffer, Buffer>
  close(): void
}

/** Starts a server of the service without TLS; returns its port. */
export async function startGrpc(t: TestContext, handlers: UntypedServiceImplementation): Promise<number> {
  const server = new Server()
  server.addService(service, handlers)
  t.after(() => server.forceShutdown())
  return new Promise((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    ),
  )
}

/** Makes a client of the service at a port, without TLS, for site.test. */
export function grpcClient(t: TestContext, port: number): EchoClient {
  const Client = makeGenericClientConstructor(service, 'test.Echo')
  const options = { 'grpc.default_authority': 'site.test', 'grpc.enable_retries': 0 }
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), options)
  t.after(() => client.close())
  return client as unknown as EchoClient
}
