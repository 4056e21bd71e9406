#!/bin/sh
# Makes the fixtures anew: an image of one empty layer in a registry on loopback, signed by the real cosign 2 and 3.
# Usage: sh make.sh COSIGN2 COSIGN3, in this directory; needs docker-registry, skopeo, curl, jq and openssl.
set -eu
cosign2=$1 cosign3=$2 out=$PWD
work=$(mktemp -d)
trap 'kill "$registry"; rm -rf "$work"' EXIT
export COSIGN_PASSWORD='' HOME="$work"
host=127.0.0.1:35792
cat > "$work/registry.yml" <<END
version: 0.1
storage: { filesystem: { rootdirectory: $work/registry } }
http: { addr: $host }
END
docker-registry serve "$work/registry.yml" > "$work/registry.log" 2>&1 &
registry=$!
until curl -sf "http://$host/v2/" > "$work/answer"; do sleep 0.2; done

put() { sum=$(sha256sum "$1" | cut -c1-64); cp "$1" "$work/image/blobs/sha256/$sum"; echo "\"digest\":\"sha256:$sum\",\"size\":$(stat -c %s "$1")"; }
mkdir -p "$work/image/blobs/sha256"
head -c 1024 /dev/zero > "$work/layer"
layer=$(put "$work/layer")
diff=$(sha256sum "$work/layer" | cut -c1-64)
printf '{"architecture":"amd64","os":"linux","config":{},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' "$diff" > "$work/config"
config=$(put "$work/config")
printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json",%s},"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar",%s}]}' "$config" "$layer" > "$work/manifest"
manifest=$(put "$work/manifest")
printf '{"imageLayoutVersion":"1.0.0"}' > "$work/image/oci-layout"
printf '{"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json",%s,"annotations":{"org.opencontainers.image.ref.name":"1"}}]}' "$manifest" > "$work/image/index.json"
skopeo copy --preserve-digests --dest-tls-verify=false "oci:$work/image:1" "docker://$host/app:1"
cp "$work/manifest" "$out/root.json"
root=$(sha256sum "$work/manifest" | cut -c1-64)

# The key is thrown away with the directory: nobody can sign more with it.
(cd "$work" && "$cosign3" generate-key-pair)
cp "$work/cosign.pub" "$out/cosign.pub"
"$cosign2" sign --yes --key "$work/cosign.key" --tlog-upload=false --new-bundle-format=false --allow-http-registry "$host/app@sha256:$root"
"$cosign3" sign --yes --key "$work/cosign.key" --tlog-upload=false --use-signing-config=false --allow-http-registry "$host/app@sha256:$root"

types='Accept: application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json'
manifest() { curl -sf -H "$types" "http://$host/v2/$1/manifests/$2"; }
blob() { curl -sf "http://$host/v2/$1/blobs/$2"; }
manifest app "sha256-$root.sig" > "$out/tag-manifest.json"
blob app "$(jq -r '.layers[0].digest' "$out/tag-manifest.json")" > "$out/tag-payload.json"
manifest app "sha256-$root" > "$out/referrers.json"
manifest app "$(jq -r '.manifests[0].digest' "$out/referrers.json")" > "$out/bundle-manifest.json"
blob app "$(jq -r '.layers[0].digest' "$out/bundle-manifest.json")" > "$out/bundle.json"

# The same image in another repository, signed by the key of a certificate: root, intermediate, leaf.
skopeo copy --preserve-digests --dest-tls-verify=false "oci:$work/image:1" "docker://$host/certified:1"
cd "$work"
make_certificate() { # NAME ISSUER EXTENSIONS
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"
  openssl req -new -key "$1.key" -subj "/CN=$1" -out "$1.csr"
  printf '%s\n' "$3" > "$1.ext"
  if [ "$1" = "$2" ]; then set -- "$1" -signkey "$1.key"; else set -- "$1" -CA "$2.crt" -CAkey "$2.key" -CAcreateserial; fi
  name=$1; shift
  openssl x509 -req -in "$name.csr" -days 36500 -extfile "$name.ext" -out "$name.crt" "$@"
}
make_certificate root root 'basicConstraints=critical,CA:TRUE
keyUsage=critical,keyCertSign,cRLSign'
make_certificate intermediate root 'basicConstraints=critical,CA:TRUE,pathlen:0
keyUsage=critical,keyCertSign,cRLSign'
make_certificate leaf intermediate 'basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature
extendedKeyUsage=codeSigning
subjectAltName=email:release@example.com'
cat intermediate.crt root.crt > chain.crt
cp root.crt "$out/root.crt"
"$cosign2" import-key-pair --key leaf.key --output-key-prefix leaf-cosign
"$cosign2" sign --yes --key leaf-cosign.key --certificate leaf.crt --certificate-chain chain.crt --tlog-upload=false --new-bundle-format=false --allow-http-registry "$host/certified@sha256:$root"
manifest certified "sha256-$root.sig" > "$out/certified-manifest.json"
blob certified "$(jq -r '.layers[0].digest' "$out/certified-manifest.json")" > "$out/certified-payload.json"
