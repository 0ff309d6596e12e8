# A container with profuse alone: docker build -t profuse . && docker run --rm -v "$PWD:/work" profuse merge -o app.profdata profiles
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags=-s -o /profuse ./cmd/profuse && mkdir -m 1777 /empty

FROM scratch
COPY --from=build /empty /tmp
COPY --from=build /profuse /usr/bin/profuse
# A user without a name or privileges. The files of the host must be readable for it:
# docker run --user "$(id -u):$(id -g)" writes as the user of the host.
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/usr/bin/profuse"]
