/*
 * Public keys in the format of ssh-keygen, without comments. Their private keys were not kept. The two security-key types are
 * assembled from their fields (OpenSSH PROTOCOL.u2f).
 */
export const publicKeys = {
  rsa: 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQDL4MYMXFi/EAyTYZ5yYgjpPvv/N/4t73WkswEoT3a37xV0KNr71j0OfVn4AI+Cy74D08i84YtDXdkkmE+ZIX1zpoBg98WSuz+X/eznsG9VAcKYfv6FLqQs1AqcnA79VSR1pZ0Gbk8RxTvFDcNOtDYYoOCe915ig1Q2MtfHzOYnzCCepS1JgXAzkse9gL5ALyVxrEqsQmO2jnduofvzQpHxVTwV6YkhgXs0bzcFX5b75U+c+YKppX2fy7Aq4DoHMFb3dSydlbNjaVLYchUGvEXAvN6akB6kuyPFfFplu2fnl++WNzZ2qP3cwHAQ9VJHR+HItp0knIeck7Xw4/n9VuEn',
  nistp256:
    'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBN1lNmXSEa2XCFJKvOtL2ajL2BT5qSnpa7cPK3VxKfhaXY9iqRp/3VyMCnfAK9QS1EGOjkTzwuJ016FFgd1Xf3M=',
  nistp384:
    'ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBCvYpkWJWrl1GeMYVQualJngbRLqV6s3YAZvHJrRZLe7al3XWB1rJ5bkETeOMi/Nen8Owz8NJnxuuZw3Dc9hIXzLP+NjXDHpB8cP5oDARkxfWDwOtek/y6PLdwOkyYCnKw==',
  nistp521:
    'ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBACAkx+9QhiRNQ6yp6FujbUn7fbJZ7oBMKVWPhRGrREw2opDo3DcdeX3pkTfSCeZZ7syo5ICs1RhB7dvLHYi38QNCQEICM0bxMWAi4LIbIPJES8eKyoGpmWjgqVSktdQjFkIggM++QJniR1Evl+y13HPXzrtZ7h3RFQbkwmRUDIoc8opdg==',
  ed25519: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAIuZSCpkcDwdAZdkw3TSIQSHxoD4lHapeUVfXFlwMnz',
  skEd25519:
    'sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIGUEY6VgtUHWLY7XszvKp2fQspt053WEahsTrqthvec3AAAABHNzaDo=',
  skNistp256:
    'sk-ecdsa-sha2-nistp256@openssh.com AAAAInNrLWVjZHNhLXNoYTItbmlzdHAyNTZAb3BlbnNzaC5jb20AAAAIbmlzdHAyNTYAAABBBEiriNofravJf+k4ZFYwgnjVgi+q2gTtkGylZtrYN66Nad/4zrE4grGKGmeIfhwGOmz7Qjp3msymnJaHNz/G2nkAAAAEc3NoOg==',
} as const;

export type KeyName = keyof typeof publicKeys;

/** Their fingerprints from `ssh-keygen -l`, with `-E md5` and without. */
export const fingerprints: Readonly<Record<KeyName, { readonly md5: string; readonly sha256: string }>> = {
  rsa: {
    md5: '12:36:29:8d:58:e4:6d:5b:8c:2a:a3:72:7e:44:11:7f',
    sha256: 'SHA256:psFMwrrDyDUfP5fAEZx8PLrmjg2vdIMjVuDi4QM4DBw',
  },
  nistp256: {
    md5: 'f9:45:c8:ac:a0:76:4b:02:dc:fc:c8:74:85:1d:09:95',
    sha256: 'SHA256:eE2nayAqrmVWcK8TB+vn67Qc3bbqSNsM9A1QWIcDI4Y',
  },
  nistp384: {
    md5: '69:ec:c2:c7:ea:b3:67:98:5a:8d:0f:fe:08:aa:58:8b',
    sha256: 'SHA256:6DlVMVz/DkjedhPHNFakbh5/nBiYWSQRQVglXJ+41rY',
  },
  nistp521: {
    md5: 'b4:81:82:9f:3d:98:c8:18:bf:68:c1:af:d2:8f:7c:71',
    sha256: 'SHA256:09EyYcuCU9yaemWIhNVuzHojNlCuU/C3YOa/wVVR79U',
  },
  ed25519: {
    md5: '5b:1c:8a:69:8f:ae:18:33:84:12:41:c7:89:fb:fb:5f',
    sha256: 'SHA256:7g2VxDSaGkuznGEj32vcY87mCZlyL1aUj41t85eHXfA',
  },
  skEd25519: {
    md5: '85:94:d9:a7:e1:b2:1c:fc:93:74:15:40:07:74:5e:96',
    sha256: 'SHA256:jlkLe0nQmqd2pLpnfEIcqjEtunwT0XsH1P1xoi2/s+k',
  },
  skNistp256: {
    md5: '35:44:1f:18:ba:9a:18:a0:b1:9b:b8:3f:a1:87:78:b0',
    sha256: 'SHA256:cb/VoGSk19lEJARJpPm2sXSi7P8EwgzGcBx4YnC3w/w',
  },
};
