# syntax=docker/dockerfile:1

# The packages of the product alone: the image brings Node, so the optional one that carries it stays out as well.
FROM node:26-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional

FROM node:26-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY config ./config
COPY src ./src
# The side port is for other containers: it asks for a token there.
ENV GATEHOUSE_ADMIN=0.0.0.0:8081 GATEHOUSE_DATA=/data
RUN install -d -o node -g node -m 700 /data
VOLUME /data
USER node
EXPOSE 8080 8081
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["node", "src/main.ts", "health", "--running"]
# Node itself is the first process: Gatehouse handles SIGTERM, SIGINT and SIGHUP there.
ENTRYPOINT ["node", "src/main.ts"]
CMD ["start"]
