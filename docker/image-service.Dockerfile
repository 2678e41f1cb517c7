# image-service, built from the top of the repository:
#   docker build -f docker/image-service.Dockerfile -t inquest/image-service:0.1.0 .
FROM node:20.20.2-bookworm-slim AS build
WORKDIR /srv/inquest
COPY package.json package-lock.json .npmrc tsconfig.base.json ./
COPY apps apps
COPY libs libs
# The optional packages are the embedded Postgres, which no container needs.
RUN npm ci --ignore-scripts --omit=optional \
    && npx --no-install tsc -b apps/image-service \
    && npm prune --omit=dev --omit=optional --ignore-scripts

FROM node:20.20.2-bookworm-slim
# The lists of apt stay: with them the builder finds and downloads the kernel of the guests.
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        busybox-static \
        ca-certificates \
        cpio \
        debian-archive-keyring \
        e2fsprogs \
        golang-github-hashicorp-yamux-dev \
        golang-go \
        golang-golang-x-sys-dev \
        mmdebstrap \
        qemu-utils \
        tini \
        util-linux \
        xz-utils
WORKDIR /srv/inquest
COPY --from=build /srv/inquest/node_modules node_modules
COPY --from=build /srv/inquest/apps apps
COPY --from=build /srv/inquest/libs libs
# The builder of the guest agent reads its version from here.
COPY package.json package.json
COPY tools/boot tools/boot
COPY tools/images tools/images
ENV NODE_ENV=production INQUEST_HOME=/var/lib/inquest INQUEST_HTTP_HOST=0.0.0.0 INQUEST_HTTP_PORT=8080
VOLUME /var/lib/inquest
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "-e", "fetch('http://127.0.0.1:8080/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Root, because the builders unpack packages and make root file systems whose files belong to root.
ENTRYPOINT ["tini", "--", "node", "apps/image-service/dist/main.js"]
