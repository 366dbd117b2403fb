# Runs `svc serve` for the project in /project, and `svc dev` when that is named. Data is kept in /data.
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY . .
# Without install scripts: nothing is compiled, and the build is named.
RUN npm ci --ignore-scripts \
 && npm run build \
 && npm pack --ignore-scripts --pack-destination /archive

FROM node:24-bookworm-slim AS install
COPY --from=build /archive /archive
# Node's own SQLite serves, so the optional package with binaries for all platforms is left out.
RUN npm install --prefix /opt/svc --no-save --ignore-scripts --omit=optional /archive/*.tgz

FROM node:24-bookworm-slim
COPY --from=install /opt/svc /opt/svc
RUN ln -s /opt/svc/node_modules/.bin/svc /usr/local/bin/svc \
 && install --directory --owner=node --group=node --mode=700 /data
ENV NODE_ENV=production SVC_DATA=/data
USER node
WORKDIR /project
VOLUME /data
EXPOSE 4310 4311
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4310/v1/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["svc"]
CMD ["serve", ".", "--host", "0.0.0.0", "--allow-remote"]
