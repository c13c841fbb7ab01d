# Node as it is tested here. To pin what it is built from as well: --build-arg NODE=26.12.1-slim@sha256:…
ARG NODE=26.12.1-slim

# The program in a few files of JavaScript, and what V8 compiles of them, so that the first start is as fast as the next.
FROM node:${NODE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY LICENSE ./
COPY bin ./bin
COPY build ./build
COPY config ./config
COPY docs ./docs
COPY src ./src
RUN node build/package.ts dist && node build/fill-cache.ts dist dist/cache

# The packages of the product alone: the image brings Node, so the optional one that carries it stays out as well.
FROM node:${NODE} AS files
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund
COPY --from=build /build/dist ./dist
# Whatever the rights of the files were where it is built, the user of the image may read them, and nobody may write.
RUN chmod -R a+rX,a-w . && chmod a+x dist/main.js

FROM node:${NODE}
# The side port is for other containers too: it asks for a token there. Threads share an arena of the C library. What V8 compiled is found by its place beside the program.
ENV NODE_ENV=production GATEHOUSE_ADMIN=0.0.0.0:8081 GATEHOUSE_DATA=/data MALLOC_ARENA_MAX=2 XDG_CACHE_HOME=/app/dist/cache NODE_COMPILE_CACHE_PORTABLE=1
RUN install -d -o 1000 -g 1000 -m 700 /data && ln -s /app/dist/main.js /usr/local/bin/gatehouse
WORKDIR /app
COPY --from=files /app/node_modules ./node_modules
COPY --from=files /app/dist ./dist
VOLUME /data
# By number, since Kubernetes cannot tell whether a name is root.
USER 1000:1000
EXPOSE 8080 8081
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s CMD ["node", "/app/dist/main.js", "health", "--running"]
# Node itself is the first process: Gatehouse handles SIGTERM, SIGINT and SIGHUP there. The path holds in any working directory.
ENTRYPOINT ["node", "/app/dist/main.js"]
CMD ["start"]
