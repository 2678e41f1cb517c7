# gateway, built from the top of the repository:
#   docker build -f docker/gateway.Dockerfile -t inquest/gateway:0.1.0 .
FROM node:20.20.2-bookworm-slim AS build
WORKDIR /srv/inquest
COPY package.json package-lock.json .npmrc tsconfig.base.json ./
COPY apps apps
COPY libs libs
# With the optional packages: the web bundler's compiled part is one of them. None of them stays.
RUN npm ci --ignore-scripts \
    && npx --no-install tsc -b apps/gateway \
    && npx --no-install vite build apps/maintenance \
    && npm prune --omit=dev --omit=optional --ignore-scripts

FROM node:20.20.2-bookworm-slim
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        ca-certificates \
        tini \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /srv/inquest
COPY --from=build /srv/inquest/node_modules node_modules
COPY --from=build /srv/inquest/apps apps
COPY --from=build /srv/inquest/libs libs
ENV NODE_ENV=production INQUEST_HOME=/var/lib/inquest INQUEST_HTTP_HOST=0.0.0.0 INQUEST_HTTP_PORT=8080
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "-e", "fetch('http://127.0.0.1:8080/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
USER node
ENTRYPOINT ["tini", "--", "node", "apps/gateway/dist/main.js"]
