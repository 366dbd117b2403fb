# Runs `svc serve` for the project in /project, or the command of svc that is named instead. Data is kept in /data; nothing else is written
# but temporary files in /tmp.
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY . .
# Without install scripts: nothing is compiled, and the build is named.
RUN npm ci --ignore-scripts \
 && npm run build \
 && npm pack --ignore-scripts --pack-destination /tmp \
 && mkdir /opt/svc \
 && tar --extract --gzip --file /tmp/svc-agents-cli-*.tgz --directory /opt/svc --strip-components=1
# Every dependency and every optional peer. Node's own SQLite serves, so the packages with binaries for all platforms are left out.
RUN cd deploy/image \
 && npm ci --ignore-scripts \
 && mv node_modules /opt/svc/ \
 && npm sbom --sbom-format cyclonedx --package-lock-only \
    | node ../../scripts/sbom.js /opt/svc/dist/sbom.cdx.json > /opt/svc/sbom.cdx.json

FROM node:24-bookworm-slim
COPY --from=build /opt/svc /opt/svc
RUN ln -s /opt/svc/bin/svc.js /usr/local/bin/svc \
 && groupadd --gid 10001 svc \
 && useradd --uid 10001 --gid svc --home-dir /data --no-create-home --shell /usr/sbin/nologin svc \
 # For whichever user runs it (`--user`, an assigned one): svc makes its own directory below, which only that user may read.
 && install --directory --mode=1777 /data
ARG VERSION=0.1.0
ARG REVISION=
LABEL org.opencontainers.image.title=svc \
      org.opencontainers.image.licenses=MIT \
      org.opencontainers.image.version=$VERSION \
      org.opencontainers.image.revision=$REVISION
ENV NODE_ENV=production SVC_DATA=/data/svc HOME=/data
# By number, so that Kubernetes can see that it is not root.
USER 10001:10001
WORKDIR /project
VOLUME /data
EXPOSE 4310 4311 4312
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["svc", "health"]
ENTRYPOINT ["svc"]
CMD ["serve", ".", "--host", "0.0.0.0", "--allow-remote"]
